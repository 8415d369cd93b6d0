# The part of `dask` that the engine uses.
from dask import config as config
