"""What `import histo` imports, and what it leaves alone."""
import subprocess
import sys


def test_import_leaves_numpy_alone():
    code = "import histo, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_modules_do_not_hide_functions():
    code = """
import histo, types
histo.Histogram, histo.Map, histo.Regular, histo.loc
import histo.image
hidden = [name for name in histo.__all__ if isinstance(getattr(histo, name), types.ModuleType)]
raise SystemExit(str(hidden) if hidden else 0)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
