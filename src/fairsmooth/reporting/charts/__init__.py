"""Interactive charts: Vega-Lite, made by Altair, with the script that draws them inside the page."""
