"""The backend of mutable_devices."""

import mutable_devices
from backend_of_devices import hooks

globals().update(hooks(mutable_devices))
