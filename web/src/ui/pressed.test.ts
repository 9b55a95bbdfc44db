import { describe, expect, it } from 'vitest';
import { enterMeans, isEscape, isOfInputMethod } from './pressed.ts';

const pressed = (key: string, init: KeyboardEventInit & { keyCode?: number } = {}) =>
  new KeyboardEvent('keydown', { key, ...init });

describe('Enter', () => {
  it.each([
    ['alone', pressed('Enter', { keyCode: 13 }), 'send'],
    ['with Shift', pressed('Enter', { keyCode: 13, shiftKey: true }), 'new line'],
    ['with Ctrl', pressed('Enter', { keyCode: 13, ctrlKey: true }), 'send'],
    ['that confirms a word in Chromium', pressed('Enter', { keyCode: 229, isComposing: true }), undefined],
    ['that confirms a word in Firefox', pressed('Enter', { keyCode: 13, isComposing: true }), undefined],
    ['that confirms a word in Safari', pressed('Enter', { keyCode: 229 }), undefined],
    ['that confirms a word, with Shift', pressed('Enter', { keyCode: 229, shiftKey: true }), undefined],
    ['not pressed', pressed('a', { keyCode: 65 }), undefined],
  ])('%s', (_what, event, meaning) => {
    expect(enterMeans(event)).toBe(meaning);
  });
});

it('an input method keeps its keys, Escape among them', () => {
  expect(isOfInputMethod(pressed('ArrowDown', { keyCode: 229 }))).toBe(true);
  expect(isOfInputMethod(pressed('ArrowDown', { keyCode: 40 }))).toBe(false);
  expect(isEscape(pressed('Escape', { keyCode: 229 }))).toBe(false);
  expect(isEscape(pressed('Escape', { keyCode: 27, isComposing: true }))).toBe(false);
  expect(isEscape(pressed('Escape', { keyCode: 27 }))).toBe(true);
});
