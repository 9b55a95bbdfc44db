/** Ways in which the words of the page are changed, to show what another language would break. */
const MODES = ['long', 'rtl'] as const;
type Mode = (typeof MODES)[number];

const KEY = 'palisade.pseudo';

/** Each vowel twice, which is about a third longer, and letters with marks above and below the line. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: 'áà', e: 'éè', i: 'íì', o: 'óö', u: 'úü', A: 'ÁÀ', E: 'ÉÈ', I: 'ÍÌ', O: 'ÓÖ', U: 'ÚÜ' },
  ...{ c: 'ç', n: 'ñ', s: 'š', y: 'ý', z: 'ž', C: 'Ç', N: 'Ñ', S: 'Š', Y: 'Ý', Z: 'Ž' },
};

/** The words of a sentence in a language that nobody speaks. Numbers, dates and blanks stay. */
export function pseudo(text: string): string {
  return text.replaceAll(/[A-Za-z]/gu, (letter) => LETTERS[letter] ?? letter);
}

/** Parts whose text is data or code of somebody, not a sentence of the page. */
const DATA = 'bdi, code, pre, script, style, textarea, time, kbd, [contenteditable]';
const ATTRIBUTES = ['placeholder', 'aria-label', 'title'] as const;

/** Changes every text of `root`, now and as it changes. Answers how to stop. */
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
      // Changed words have none of the letters that are changed.
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

/** Ends the changes of words that were begun last. */
let stop = () => {};

/** Follows the switch of developers: `?pseudo=long`, `?pseudo=rtl`, and `?pseudo=off` to end it. This browser keeps it. */
export function followSwitch(): void {
  stop();
  stop = () => {};
  const mode = keptMode();
  if (mode === undefined) return;
  // Tags of languages that are none, so that the rules for other languages hold.
  document.documentElement.lang = mode === 'rtl' ? 'ar-XB' : 'en-XA';
  if (mode === 'rtl') document.documentElement.dir = 'rtl';
  stop = changeWords(document.body);
}
