// Runs before the first paint, so that the page never flashes in the wrong colours. The key is the one in src/app/theme.ts.
(() => {
  var chosen = null;
  try {
    chosen = localStorage.getItem('palisade.color_scheme');
  } catch {
    // Storage may be blocked; the system's scheme is the answer then.
  }
  if (chosen !== 'light' && chosen !== 'dark') {
    chosen = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  }
  document.documentElement.setAttribute('data-mantine-color-scheme', chosen);
})();
