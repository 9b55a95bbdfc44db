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
// The first formatter of numbers, dates or lists has the browser read its table of languages (100 ms on a phone). It is made now, in a task of its own, while the
// scripts are still on their way: among what these do at their start it would hold the page.
setTimeout(() => new Intl.NumberFormat('en').format(0), 0);
