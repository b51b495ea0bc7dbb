"""See `mohone.reporting.pictures.gains`."""

from mohone.reporting.pictures.gains import degree_figure as degree_figure
from mohone.reporting.pictures.gains import grid_figure as grid_figure
