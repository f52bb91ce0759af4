"""``python -m fairsmooth``: the command line."""

from fairsmooth.cli.main import program

if __name__ == "__main__":
    program()
