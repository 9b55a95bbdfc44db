import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { isEscape } from './pressed.ts';
import './figure-mark.css';

const MARKS = {
  simulated: {
    label: 'Simulated',
    tooltip: 'This is a simulated figure for demonstration, not a measurement.',
  },
  sample: { label: 'Sample', tooltip: 'This is a fixed sample figure for demonstration, not a measurement.' },
  claim: { label: 'Example', tooltip: 'This is an example of a provider’s promise. Replace it in Admin Setup.' },
  contact: {
    label: 'Example contact',
    tooltip: 'This is an example support contact and won’t reach anyone. Replace it in Admin Setup.',
  },
} as const;

/** Distance between a tooltip and the edge of the window, in px. */
const EDGE = 8;

/**
 * Marks a figure that was not measured. The tooltip opens by pointer, keyboard and touch, and closes with Escape (WCAG 1.4.13).
 * Mantine's tooltip would add a positioning library of 20 kB.
 */
export function FigureMark({ kind }: { kind: keyof typeof MARKS }) {
  const [isOpen, setIsOpen] = useState(false);
  const tooltip = useRef<HTMLSpanElement>(null);
  const id = useId();
  const { label, tooltip: sentence } = MARKS[kind];

  useLayoutEffect(() => {
    const element = tooltip.current;
    if (!isOpen || !element) return;
    const place = () => {
      element.style.left = '0';
      const { left, right } = element.getBoundingClientRect();
      const overhang = Math.max(0, right + EDGE - document.documentElement.clientWidth);
      element.style.left = `${Math.max(-overhang, EDGE - left)}px`;
    };
    place();
    addEventListener('resize', place);
    return () => removeEventListener('resize', place);
  }, [isOpen]);

  function press(event: KeyboardEvent) {
    if (isEscape(event)) setIsOpen(false);
  }

  return (
    <span className="figure-mark">
      <button
        type="button"
        className="figure-mark__badge muted rounded-s"
        aria-describedby={id}
        onPointerEnter={() => setIsOpen(true)}
        onPointerLeave={() => setIsOpen(false)}
        onFocus={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onClick={() => setIsOpen(true)}
        onKeyDown={press}
      >
        {label}
      </button>
      <span ref={tooltip} role="tooltip" id={id} className="figure-mark__tooltip" hidden={!isOpen}>
        {sentence}
      </span>
    </span>
  );
}
