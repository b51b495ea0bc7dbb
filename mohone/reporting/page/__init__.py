"""A page of results: one HTML file that needs no network, of a job, a sweep or a folder of them.

How it is drawn. Jinja fills templates; tables, tiles and bars are HTML; scatter plots and curves are an SVG
of marks alone in a box of 100 x 100, with their labels as HTML beside, so that text keeps its size at any
width and the colours are CSS variables that know dark mode. Plotly would add 4.5 MB to each page, Vega and
Bokeh about 1 MB, Observable Plot with D3 0.5 MB; all draw by a script what a reader without scripts, or a
printer, should see, too. Matplotlib's SVG has one width and one set of colours. The script here has 100
lines: it switches, sorts, and shows one job of many.
"""
