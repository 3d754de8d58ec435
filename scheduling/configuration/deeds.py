"""In whose name definitions are written."""

from scheduling.journal import Deed

DEFINITIONS = Deed(by="definitions")
