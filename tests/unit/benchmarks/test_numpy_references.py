"""The script that counts which of NumPy's names in a folder of sources are answered here."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "numpy_references.py"
SOURCES = {
    "plain.py": "import numpy as np\nx = np.median(np.concatenate([np.ndim(a), b.np.mean]))\nnp.add.at(x, i, 1)\n",
    "members.py": "from numpy import cumsum as c, sum\nfrom numpy.linalg import norm\nc(sum(norm(norm)))\n",
    "modules.py": (
        "import numpy\nimport numpy.linalg\nimport numpy.random as r\nfrom numpy import fft as f, random\n"
        "numpy.linalg.svd(f.fft(x))\nr.rand(3)\nrandom.rand(3)\nnumpy.lib.stride_tricks.as_strided(x)\n"
    ),
    "other.py": "import other as np\nfrom .numpy import mean\nnp.concatenate(mean(x))\nlog = ()\n",
    "unknown.py": "import numpy as np\nnp.brand_new(np.object_, np._private, np)\n",
    "old.py": "import numpy as np\nprint np.mean\n",
    "tests/left_out.py": "import numpy as np\nnp.brand_new\n",
}


def counted(folder, *options):
    out = folder / "results.json"
    ended = subprocess.run(
        [sys.executable, SCRIPT, folder, "--out", out, *options], capture_output=True, text=True, check=False
    )
    return ended.returncode, json.loads(out.read_text())


def write(folder, names):
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(SOURCES[name])


def test_each_reference_counts_once(tmp_path):
    write(tmp_path, SOURCES)
    status, result = counted(tmp_path)
    named = ("median", "sum", "norm", "norm", "svd", "fft", "as_strided")
    answered = ("concatenate", "ndim", "cumsum", "rand", "rand")
    total = len(named) + len(answered) + 3
    assert result["files"] == len(SOURCES) - 2
    assert result["references"] == total
    assert result["left"] == {
        "numpy.add.at": ["nothing", 1],
        "numpy.brand_new": ["nothing", 1],
        "numpy.object_": ["reason", 1],
    }
    shares = {"name": len(named) / total, "answer": len(answered) / total, "reason": 1 / total, "nothing": 2 / total}
    assert result["shares"] == {way: round(share, 4) for way, share in shares.items()}
    assert result["answered"] == round(12 / total, 4)
    assert status == 3


def test_all_answered(tmp_path):
    write(tmp_path, ["members.py", "modules.py", "tests/left_out.py"])
    status, result = counted(tmp_path)
    assert (status, result["answered"]) == (0, 1.0)
    assert counted(tmp_path, "--without", "")[1]["left"] == {"numpy.brand_new": ["nothing", 1]}


def test_a_folder_without_references(tmp_path):
    result = counted(tmp_path)[1]
    assert (result["references"], result["answered"]) == (0, 0.0)
