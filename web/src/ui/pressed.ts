import type { KeyboardEvent as ReactKeyboardEvent } from 'react';

type Pressed = KeyboardEvent | ReactKeyboardEvent;

/** `keyCode` of keys that an input method handles (UI Events, "Determine keydown / keyup keyCode"). */
const INPUT_METHOD = 229;

/** True for a key that an input method handles. Safari ends the composition before the confirming key, so `isComposing` is false there. */
export function isOfInputMethod(event: Pressed): boolean {
  const { isComposing, keyCode } = 'nativeEvent' in event ? event.nativeEvent : event;
  return isComposing || keyCode === INPUT_METHOD;
}

/** Meaning of Enter in a field. Undefined for other keys, and for the Enter that confirms an input method. */
export function enterMeans(event: Pressed): 'send' | 'new line' | undefined {
  if (event.key !== 'Enter' || isOfInputMethod(event)) return undefined;
  return event.shiftKey ? 'new line' : 'send';
}

export function isEscape(event: Pressed): boolean {
  return event.key === 'Escape' && !isOfInputMethod(event);
}
