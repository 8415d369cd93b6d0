"""Trials on several processes or machines, on `dask.distributed`; imported for ``--cluster`` alone."""
