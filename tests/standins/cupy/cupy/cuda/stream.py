"""Streams on which everything has already happened."""


class Event:
    def __init__(self, *_, **__):
        self.done = True

    def record(self, stream=None):
        pass

    def synchronize(self):
        pass


class Stream:
    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self.ptr = 0 if null else id(self)

    def __enter__(self):
        _current.append(self)
        return self

    def __exit__(self, *_):
        _current.pop()

    def use(self):
        _current[-1] = self
        return self

    def record(self, event=None):
        return event or Event()

    def wait_event(self, event):
        if not isinstance(event, Event):
            raise TypeError("event must be a cupy.cuda.Event")

    def synchronize(self):
        pass


class ExternalStream(Stream):
    def __init__(self, ptr, device_id=-1):
        self.ptr = ptr


Stream.null = Stream(null=True)
_current = [Stream.null]


def get_current_stream(device_id=-1):
    return _current[-1]
