"""scikit-learn's own tests of histogram gradient boosting, with histograms of histo.compat.sklearn."""

import sys
from importlib.metadata import version

from running import counting, run

from histo import _histo
from histo.compat.sklearn import accelerated

called = {"fill_nodes": 0, "subtract_node": 0}

for name in called:
    setattr(_histo, name, counting(_histo, called, name))

accelerated()
status = run(f"scikit-learn {version('scikit-learn')}", ["--pyargs", "sklearn.ensemble._hist_gradient_boosting"],
             *sys.argv[1:])
print(f"  {called['fill_nodes']} histograms by fill_nodes, {called['subtract_node']} by subtract_node")
sys.exit(status)
