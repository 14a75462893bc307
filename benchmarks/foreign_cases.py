"""The calls that foreign_calls.py tries: the function's name with all modules, and arguments from `arrays`."""

from __future__ import annotations

from typing import Any

import numpy as np

SCIPY = """
    signal.convolve(im, k, mode="same")
    signal.convolve2d(im, k, mode="same")
    signal.correlate(x, w)
    signal.correlate2d(im, k)
    signal.csd(x, y, nperseg=64)[1]
    signal.czt(x)
    signal.decimate(x, 4)
    signal.detrend(x)
    signal.fftconvolve(im, k, mode="same")
    signal.filtfilt(num, den, x)
    signal.find_peaks(x)[0]
    signal.hilbert(x)
    signal.istft(spectrum, nperseg=64)[1]
    signal.lfilter(num, den, x)
    signal.medfilt(x, 3)
    signal.medfilt2d(im, 3)
    signal.oaconvolve(x, w)
    signal.periodogram(x)[1]
    signal.resample(x, 100)
    signal.resample_poly(x, 2, 3)
    signal.savgol_filter(x, 7, 2)
    signal.sosfilt(sos, x)
    signal.sosfiltfilt(sos, x)
    signal.spectrogram(x, nperseg=64)[2]
    signal.stft(x, nperseg=64)[2]
    signal.upfirdn(w, x, 2)
    signal.welch(x, nperseg=64)[1]
    signal.wiener(im, 3)
    ndimage.affine_transform(im, A[:2, :2])
    ndimage.binary_dilation(mask)
    ndimage.binary_erosion(mask)
    ndimage.convolve(im, k, mode="mirror")
    ndimage.convolve1d(im, w, mode="mirror")
    ndimage.correlate(im, k)
    ndimage.distance_transform_edt(mask)
    ndimage.find_objects(labels)
    ndimage.gaussian_filter(im, 1.0)
    ndimage.label(mask)[0]
    ndimage.laplace(im)
    ndimage.map_coordinates(im, at, order=1)
    ndimage.maximum_filter(im, 3)
    ndimage.median_filter(im, 3)
    ndimage.rotate(im, 30.0)
    ndimage.shift(im, 1.5)
    ndimage.sobel(im)
    ndimage.sum_labels(im, labels, ids)
    ndimage.uniform_filter(im, 3)
    ndimage.zoom(im, 2.0)
    special.betainc(pos, pos, q)
    special.entr(pos)
    special.erf(x)
    special.erfc(x)
    special.expit(x)
    special.gammaln(pos)
    special.i0(x)
    special.j0(x)
    special.jv(1.0, x)
    special.logit(q)
    special.logsumexp(im, axis=1)
    special.ndtr(x)
    special.rel_entr(pos, q)
    special.softmax(im, axis=1)
    special.xlogy(pos, pos)
    linalg.cholesky(A)
    linalg.det(A)
    linalg.eigh(A)[0]
    linalg.expm(A)
    linalg.inv(A)
    linalg.lstsq(A, B)[0]
    linalg.norm(A)
    linalg.solve(A, B)
    linalg.svd(A)[1]
    fft.dct(x)
    fft.fft(x)
    fft.fft2(im)
    fft.fftn(im)
    fft.fftshift(x)
    fft.ifft(x)
    fft.irfft(x)
    fft.rfft(x)
    interpolate.Akima1DInterpolator(t, t2)(p)
    interpolate.BSpline(t, w, 4)(p)
    interpolate.CubicSpline(t, t2)(p)
    interpolate.PchipInterpolator(t, t2)(p)
    interpolate.RectBivariateSpline(t, t, im[:10, :10])(p, p)
    interpolate.RegularGridInterpolator((t, t), im[:10, :10])(points)
    interpolate.griddata(points, p, points)
    interpolate.interp1d(t, t2)(p)
    interpolate.make_interp_spline(t, t2)(p)
    integrate.cumulative_trapezoid(x)
    integrate.simpson(x)
    integrate.trapezoid(x)
    stats.entropy(pos)
    stats.gmean(pos)
    stats.iqr(x)
    stats.kurtosis(x)
    stats.linregress(x, y).slope
    stats.moment(x, 3)
    stats.norm.pdf(x)
    stats.pearsonr(x, y)[0]
    stats.rankdata(x)
    stats.skew(x)
    stats.spearmanr(x, y)[0]
    stats.ttest_ind(x, y)[0]
    stats.zscore(x)
    spatial.distance.cdist(im, im)
    spatial.distance.pdist(im)
    spatial.cKDTree(points).query(points)[0]
    cluster.vq.vq(im, im)[0]
    cluster.vq.whiten(im)
    cluster.hierarchy.linkage(im)
    optimize.linear_sum_assignment(A)[1]
    optimize.nnls(A, t[:4])[0]
    sparse.csr_matrix(A).data
"""
SKLEARN = """
    preprocessing.Binarizer().fit_transform(im)
    preprocessing.KernelCenterer().fit_transform(A)
    preprocessing.LabelEncoder().fit_transform(classes)
    preprocessing.MaxAbsScaler().fit_transform(im)
    preprocessing.MinMaxScaler().fit_transform(im)
    preprocessing.Normalizer().fit_transform(im)
    preprocessing.PolynomialFeatures().fit_transform(im[:, :3])
    preprocessing.StandardScaler().fit_transform(im)
    preprocessing.QuantileTransformer(n_quantiles=9).fit_transform(im)
    decomposition.NMF(2, init="nndsvd", max_iter=9, tol=0.1).fit_transform(im)
    decomposition.PCA(2).fit_transform(im)
    cluster.KMeans(3, random_state=0, n_init=1).fit_predict(im)
    cluster.DBSCAN().fit_predict(im)
    discriminant_analysis.LinearDiscriminantAnalysis(solver="svd").fit(im, classes).predict(im)
    ensemble.RandomForestClassifier(5, random_state=0).fit(im, classes).predict(im)
    kernel_approximation.Nystroem(n_components=8, random_state=0).fit_transform(im)
    linear_model.LinearRegression().fit(im, im[:, 0]).predict(im)
    linear_model.LogisticRegression(solver="lbfgs").fit(im, classes).predict(im)
    linear_model.PoissonRegressor().fit(im, im[:, 0]).predict(im)
    linear_model.Ridge(solver="svd").fit(im, im[:, 0]).predict(im)
    linear_model.RidgeCV().fit(im, im[:, 0]).predict(im)
    linear_model.RidgeClassifierCV().fit(im, classes).predict(im)
    naive_bayes.GaussianNB().fit(im, classes).predict(im)
    neighbors.NearestNeighbors().fit(im).kneighbors(im)[0]
    svm.SVC().fit(im, classes).predict(im)
    metrics.accuracy_score(classes, classes)
    metrics.confusion_matrix(classes, classes)
    metrics.mean_absolute_error(x, y)
    metrics.mean_squared_error(x, y)
    metrics.r2_score(x, y)
    metrics.pairwise.cosine_similarity(im)
    metrics.pairwise.euclidean_distances(im)
    metrics.pairwise.linear_kernel(im)
    metrics.pairwise.rbf_kernel(im)
    model_selection.train_test_split(im, random_state=0)[0]
"""
OTHERS = """
    skimage.color.rgb2gray(rgb)
    skimage.color.rgb2lab(rgb)
    skimage.exposure.equalize_hist(im)
    skimage.exposure.match_histograms(im, im)
    skimage.feature.canny(im)
    skimage.filters.gaussian(im)
    skimage.filters.sobel(im)
    skimage.filters.threshold_otsu(im)
    skimage.measure.label(labels)
    skimage.metrics.structural_similarity(im, im, data_range=1.0)
    skimage.morphology.dilation(im)
    skimage.restoration.denoise_tv_chambolle(im)
    skimage.transform.resize(im, (16, 16))
    skimage.transform.rotate(im, 30.0)
    skimage.util.img_as_ubyte(mask)
    cv2.GaussianBlur(im, (3, 3), 1.0)
    cv2.Sobel(im, 6, 1, 0)
    cv2.blur(im, (3, 3))
    cv2.cvtColor(byte, 8)
    cv2.filter2D(im, -1, k)
    cv2.resize(im, (16, 16))
    cv2.threshold(im, 0.5, 1.0, 0)[1]
    PIL.Image.fromarray(byte).rotate(90).tobytes()
    matplotlib.colors.Normalize()(im)
    matplotlib.colors.hsv_to_rgb(rgb)
    matplotlib.pyplot.plot(x)[0].get_ydata()
    matplotlib.pyplot.imshow(im).get_array().data
    matplotlib.pyplot.hist(x)[0]
    pandas.DataFrame(im).mean().to_numpy()
    pandas.Series(x).rolling(3).mean().to_numpy()
    pandas.cut(x, 3).codes
    imageio.v3.imwrite("<bytes>", byte, extension=".png")
    librosa.stft(x, n_fft=64)
    librosa.feature.melspectrogram(y=x, n_fft=64)
    pywt.dwt(x, "db1")[0]
    pywt.wavedec2(im, "db1", level=1)[0]
    soundfile.write(__import__("io").BytesIO(), x, 8000, format="WAV")
"""
CASES = (
    *(f"scipy.{line.strip()}" for line in SCIPY.strip().splitlines()),
    *(f"sklearn.{line.strip()}" for line in SKLEARN.strip().splitlines()),
    *(line.strip() for line in OTHERS.strip().splitlines()),
)


def arrays() -> dict[str, Any]:
    """The arguments, as NumPy's arrays."""
    rng = np.random.default_rng(0)
    im = rng.random((32, 32))
    t = np.arange(10.0)
    square = rng.random((4, 4))
    classes = np.arange(32) % 2
    im[:, 0] += classes
    return {
        "x": rng.normal(size=256), "y": rng.normal(size=256), "pos": rng.random(64) + 0.1,
        "q": rng.random(64) * 0.8 + 0.1,
        "im": im, "k": rng.random((3, 3)), "w": rng.random(5), "A": square @ square.T + 4 * np.eye(4), "B": square,
        "t": t, "t2": t**2, "p": np.asarray([1.5, 2.5, 4.25, 5.0]),
        "points": np.asarray([[1.5, 2.5], [3.0, 4.5], [7.25, 2.0], [1.0, 8.0]]),
        "at": np.stack([t + 0.5, t * 2]), "num": np.asarray([0.2]), "den": np.asarray([1.0, -0.8]),
        "sos": np.asarray([[0.2, 0.1, 0.0, 1.0, -0.5, 0.0], [1.0, 0.3, 0.0, 1.0, -0.2, 0.0]]),
        "mask": im > 0.5, "labels": (im * 4).astype(np.int64), "ids": np.asarray([1, 2, 3]), "classes": classes,
        "rgb": rng.random((8, 8, 3)), "byte": (im * 100).astype(np.uint8), "spectrum": rng.random((33, 8)) + 0j,
    }  # fmt: skip
