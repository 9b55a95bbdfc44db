/** Changes of the page's texts that show which layouts another language would break. */
const MODES = ['long', 'rtl'] as const;
type Mode = (typeof MODES)[number];

const KEY = 'palisade.pseudo';

/** Each vowel doubled, which makes texts about a third longer, and letters with marks above and below. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: 'áà', e: 'éè', i: 'íì', o: 'óö', u: 'úü', A: 'ÁÀ', E: 'ÉÈ', I: 'ÍÌ', O: 'ÓÖ', U: 'ÚÜ' },
  ...{ c: 'ç', n: 'ñ', s: 'š', y: 'ý', z: 'ž', C: 'Ç', N: 'Ñ', S: 'Š', Y: 'Ý', Z: 'Ž' },
};

/** Translates a sentence into a pseudo-language. Numbers, dates and spaces stay. */
export function pseudo(text: string): string {
  return text.replaceAll(/[A-Za-z]/gu, (letter) => LETTERS[letter] ?? letter);
}

/** Elements whose text is data or code and not a sentence of the page. */
const DATA = 'bdi, code, pre, script, style, textarea, time, kbd, [contenteditable]';
const ATTRIBUTES = ['placeholder', 'aria-label', 'title'] as const;

/** Changes every text of `root`, now and after each mutation. Returns a function that stops it. */
export function changeWords(root: Element): () => void {
  const shown = new WeakMap<Node, string>();
  const changeText = (text: Node) => {
    const { nodeValue, parentElement } = text;
    if (nodeValue === null || nodeValue === shown.get(text) || !parentElement || parentElement.closest(DATA)) return;
    const changed = pseudo(nodeValue);
    shown.set(text, changed);
    text.nodeValue = changed;
  };
  const changeAttributes = (element: Element) => {
    for (const name of ATTRIBUTES) {
      const value = element.getAttribute(name);
      // Changed text contains no letters that `pseudo` changes, so it is not changed twice.
      if (value !== null && pseudo(value) !== value) element.setAttribute(name, pseudo(value));
    }
  };
  const changeAll = (node: Node) => {
    if (node.nodeType === Node.TEXT_NODE) changeText(node);
    if (!(node instanceof Element)) return;
    changeAttributes(node);
    for (const child of node.childNodes) changeAll(child);
  };
  changeAll(root);
  const observer = new MutationObserver((mutations) => {
    for (const { type, target, addedNodes } of mutations) {
      if (type === 'characterData') changeText(target);
      else if (type === 'attributes' && target instanceof Element) changeAttributes(target);
      for (const node of addedNodes) changeAll(node);
    }
  });
  observer.observe(root, {
    ...{ subtree: true, childList: true, characterData: true, attributes: true },
    attributeFilter: [...ATTRIBUTES],
  });
  return () => observer.disconnect();
}

function keptMode(): Mode | undefined {
  const wanted = new URLSearchParams(window.location.search).get('pseudo');
  if (wanted !== null) localStorage.setItem(KEY, wanted);
  return MODES.find((mode) => mode === localStorage.getItem(KEY));
}

/** Stops the pseudo-language that runs now. */
let stop = () => {};

/** Applies the developer switch: `?pseudo=long`, `?pseudo=rtl`, or `?pseudo=off` to end it. This browser remembers it. */
export function followSwitch(): void {
  stop();
  stop = () => {};
  const mode = keptMode();
  if (mode === undefined) return;
  // Language tags of pseudo-locales, so that the CSS rules for other languages apply.
  document.documentElement.lang = mode === 'rtl' ? 'ar-XB' : 'en-XA';
  if (mode === 'rtl') document.documentElement.dir = 'rtl';
  stop = changeWords(document.body);
}
