"""The contract suite on every variant of conftest.py."""

from xarrayops.testing import ContractSuite


class TestContract(ContractSuite):
    pass
