"""What a worker process measures: time, memory, and the roofline of the device. Every answer is checked."""
