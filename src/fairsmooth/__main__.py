"""``python -m fairsmooth``: the command line."""

from fairsmooth.cli.main import run

if __name__ == "__main__":
    run()
