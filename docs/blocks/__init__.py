"""What a page may ask docs/weave for: each function's result goes into the page as it is.

Sources are read as they are now, programs are run, results come from docs/results/: nothing here is
written down twice. Functions that need the program raise NoProgram where there is none.
"""

from blocks.markdown import *
from blocks.sources import *
from blocks.program import *
from blocks.results import *
from blocks.accuracy import *
from blocks.ladders import *
from blocks.contests import *
from blocks.flight import *
from blocks.recordings import *
from blocks.emulator import *
from blocks.profiler import *
from blocks.compiled import *
from blocks.pitfalls import *
from blocks.mutants import *
from blocks.model import *
from blocks.paper import *
from blocks.matrices import *
from blocks.scaling import *
from blocks.versions import *
