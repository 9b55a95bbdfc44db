/** Shows another accent color than the page came with; null is the product’s. */
export async function showAccent(accent: string | null): Promise<void> {
  const shown = document.querySelector<HTMLStyleElement>('#accent');
  if ((shown?.dataset['color'] ?? null) === accent) return;
  const rules = accent === null ? undefined : (await import('@palisade/contract/accent')).accentRules(accent);
  shown?.remove();
  if (accent === null || rules === undefined) return;
  const style = document.createElement('style');
  style.id = 'accent';
  style.dataset['color'] = accent;
  style.textContent = rules;
  document.head.append(style);
}
