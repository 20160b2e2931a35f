"""`sysbench tools drivers`: the database drivers, what each needs, and whether it can be used here."""

from __future__ import annotations

import typer


def drivers() -> None:
    """List the database drivers, what each needs, and whether that is installed and usable here."""
    from sysbench_py.drivers import DRIVERS

    for driver in DRIVERS:
        typer.echo(f"{driver.name} - {driver.description}")
        typer.echo(f"  needs:  {driver.needs}")
        try:
            found = driver.load().installed()
        except Exception as error:
            typer.echo(f"  here:   not usable: {error}")
        else:
            typer.echo(f"  here:   usable{found and ': '}{found}")
