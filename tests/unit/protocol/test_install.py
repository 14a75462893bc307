"""The command that installs an extra: by name from an index, in the folder for a checkout."""

from importlib import metadata

import pytest

from xarrayops.errors import install_command


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'name[torch]'"),
        ('{"url": "https://example.org/name.whl", "archive_info": {}}', "pip install 'name[torch]'"),
        ('{"url": "file:///checkout", "dir_info": {}}', "pip install '.[torch]'"),
        ('{"url": "file:///checkout", "dir_info": {"editable": true}}', "pip install '.[torch]'"),
    ],
)
def test_the_command_fits_the_origin(origin, command, monkeypatch):
    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return origin

    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution())
    assert install_command("torch", "name") == command


def test_without_metadata_it_is_a_checkout(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("torch") == "pip install '.[torch]'"
    assert install_command("x", "another") == "pip install 'another[x]'"
