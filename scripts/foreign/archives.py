"""Download the source archive of a release with pip, without running its build script.

    python archives.py NAME VERSION FOLDER

`pip download` would run the build script, and has no option against it.
"""

import sys

from pip._internal.commands.download import DownloadCommand
from pip._internal.network.download import Downloader


def main():
    """Print the path of the archive; print nothing if the release has none."""
    name, version, folder = sys.argv[1:]
    command = DownloadCommand("download", "")
    options, _ = command.parse_args([])
    session = command._build_session(options)
    finder = command._build_package_finder(options=options, session=session)
    for found in finder.find_all_candidates(name):
        if str(found.version) == version and not found.link.is_wheel:
            path, _ = Downloader(session, "off")(found.link, folder)
            print(path)
            return


if __name__ == "__main__":
    main()
