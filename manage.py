#!/usr/bin/env python
"""Django's command line."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "partitions_site.settings")
    from partitions_site import launch
    from partitions_site.cli import names
    from partitions_site.environment import WrongSetting

    names.CALLED[0] = os.environ.pop("PARTITA_CALLED", names.CALLED[0])
    if sys.argv[1:2] == ["up"]:
        os.environ.update(launch.variables(sys.argv[2:], os.environ))
    if sys.argv[1:3] == ["partita", "check"]:
        os.environ.update(launch.alone(sys.argv[3:]))
    try:
        from partitions_site.cli.calling import Utility

        Utility(["partita", *names.rewritten(sys.argv)[1:]]).execute()
    except WrongSetting as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
