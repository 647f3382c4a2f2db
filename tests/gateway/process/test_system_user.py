"""Who the command line says it is: the kernel's answer, whatever the environment claims."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys

import pytest

from headgate.gateway.process.system_user import account, system_user
from headgate.model.person import is_same_person, unverified

SAYS = "from headgate.gateway.process.system_user import system_user; print(system_user())"


def test_names_in_the_environment_change_nothing():
    claimed = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER"), "alice")
    said = subprocess.check_output(
        [sys.executable, "-c", SAYS], env={**os.environ, **claimed}, text=True
    )
    me = pwd.getpwuid(os.geteuid()).pw_name
    assert said.strip() == system_user()
    assert said.startswith(f"{me} (uid {os.geteuid()} on {os.uname().nodename}, not verified)")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another account")
def test_the_effective_uid_counts_and_one_without_an_account_is_its_number():
    # The parent stays root: a child process of another uid could not read a private checkout.
    answers = {}
    for uid in (65534, 54321):
        os.seteuid(uid)
        try:
            answers[uid] = account(), system_user()
        finally:
            os.seteuid(0)
    host = os.uname().nodename
    assert answers == {
        65534: ("nobody", f"nobody (uid 65534 on {host}, not verified)"),
        54321: ("uid 54321", f"uid 54321 (uid 54321 on {host}, not verified)"),
    }


def test_a_given_name_forges_no_source():
    forged = unverified("ann (uid 0 on prod, verified)\x1b[2J", "entered in the console")
    assert forged == "ann uid 0 on prod, verified[2J (entered in the console, not verified)"
    assert unverified(" \n", "x") == "nobody (x, not verified)"
    assert is_same_person(unverified("ann", "x"), unverified("ann", "y"))
    assert not is_same_person(unverified("ann", "x"), unverified("anna", "x"))
