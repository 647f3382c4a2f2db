"""What pyarrow's file systems say when something is wrong, as our kinds of trouble."""

from __future__ import annotations

import re

_DENIED = re.compile(
    r"ACCESS_DENIED|AccessDenied|HTTP status 40[13]|\b40[13] (?:Forbidden|Unauthorized)|"
    r"SIGNATURE_DOES_NOT_MATCH|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN_ID|InvalidAccessKeyId|"
    r"AuthenticationFailed|AuthorizationFailure|AuthorizationPermissionMismatch|PermissionDenied|"
    r"PERMISSION_DENIED|UNAUTHENTICATED|AccessControlException|Permission denied|Forbidden",
)
_NO_CREDENTIALS = re.compile(
    r"NoCredentials|could not (?:find|load) .*credentials|default credentials|"
    r"DefaultAzureCredential|CredentialUnavailable|ChainedTokenCredential|"
    r"AuthenticationExcept|GSS initiate failed|not Kerberos|Failed to get .*token",
    re.IGNORECASE,
)
_HINTS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the keys under [file_systems.s3]",
    "abfs": "set AZURE_STORAGE_ACCOUNT_KEY, or account_key under [file_systems.abfs]",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS, or anonymous = true under [file_systems.gs]",
    "hdfs": "set HADOOP_USER_NAME, or get a Kerberos ticket with kinit",
}


def explained(error: Exception, family: str) -> Exception:
    """Return the error as PermissionError, FileNotFoundError or OSError, with a short reason."""
    said = " ".join(str(error).split())
    if isinstance(error, TimeoutError):
        return OSError(said)
    if isinstance(error, FileNotFoundError):
        return error
    if _NO_CREDENTIALS.search(said):
        return PermissionError(f"no credentials found: {_HINTS[family]}")
    if isinstance(error, PermissionError) or _DENIED.search(said):
        return PermissionError(
            f"access denied. Use credentials that have this permission: {_HINTS[family]}"
        )
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return error
    return OSError(_short(said))


def _short(said: str) -> str:
    """Return the informative part: what comes last in pyarrow's chain of reasons."""
    for mark in ("curlCode: ", "AWS Error ", "Detail: "):
        if mark in said:
            said = said[said.index(mark) :]
            break
    return said[:160]
