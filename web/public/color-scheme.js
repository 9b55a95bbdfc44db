// Runs before the first paint, so that the page never flashes in the wrong colors. The key is the one in src/app/theme.ts.
(() => {
  var chosen = null;
  try {
    chosen = localStorage.getItem('palisade.color_scheme');
  } catch {
    // If storage is blocked, the system's scheme is used.
  }
  if (chosen !== 'light' && chosen !== 'dark') {
    chosen = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  }
  document.documentElement.setAttribute('data-mantine-color-scheme', chosen);
})();
// The first formatter of numbers, dates or lists makes the browser read its language data (100 ms on a phone). It is created here, in a separate task, while the
// scripts are still loading, because during their start it would block the page.
setTimeout(() => new Intl.NumberFormat('en').format(0), 0);
