from .client import Oracle, OracleError

__all__ = ["Oracle", "OracleError"]
