import subprocess
import sys


def test_import_leaves_numpy_alone():
    code = "import histo, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
