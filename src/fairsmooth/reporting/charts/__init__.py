"""Interactive charts: Vega-Lite, made by Altair; the page holds the script that draws them."""
