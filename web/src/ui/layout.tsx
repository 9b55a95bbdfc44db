// Layout components and classes for all screens. A feature has CSS of its own only as an exception.
//   <Stack gap="3">                   children below each other
//   <Row gap="2" justify="between">   children beside each other; they wrap
//   <Grid columns="tail" gap="3">     named columns (layout.css); with `phone="stack"` one column on a phone
// `as` names the element or component. Classes give any element its own look:
//   muted faint ink accent amber red blue · tiny small base large · title figure medium bold · mono num nowrap break pre ellipsis clamp start end centered
//   surface-sunken -raised -plain -accent -amber -red -blue · pad-xs pad-s pad-m pad-l pad-row pad-line · line-above line-below line-between · rounded rounded-s round
//   grow fixed push full full-height span shrink center top block contents bare field tick growing upper unlined pointer disc decimal scroll above-1 to -4 below-1 to -4
//   hover hover-ink hover-accent hover-line hover-underline · off-phone on-phone unseen-phone off-empty
// `data-tone` (good, attention, danger, note, plain) sets --tone and --tone-soft for an element and its children; `tinted` and `glow` are backgrounds in these colors.
// The sign-in screen uses none of it, because it loads before these files.
// No rule has any specificity, so a feature’s class wins.
import type { ComponentPropsWithRef, ElementType } from 'react';
import './layout.css';

/** An index of the spacing tokens: 2, 4, 8, 12, 16 and 24 px. */
export type Gap = '0' | '1' | '2' | '3' | '4' | '5';

interface Common<Element extends ElementType> {
  as?: Element | undefined;
  gap?: Gap | undefined;
  /** Gap between rows, if it differs from the gap between columns. */
  rowGap?: '0' | '1' | '2' | undefined;
  align?: 'start' | 'center' | 'end' | 'baseline' | 'stretch' | undefined;
  justify?: 'start' | 'center' | 'end' | 'between' | undefined;
  /** A line above each child except the first. */
  lines?: boolean | undefined;
}

interface OfGrid {
  columns?:
    | 'lead'
    | 'tail'
    | 'both'
    | 'tail-2'
    | 'both-2'
    | 'wide'
    | 'side'
    | 'term'
    | '2'
    | '3'
    | '4'
    | 'fit-s'
    | 'fit-m'
    | 'fit-l'
    | undefined;
  /** On a phone: `stack` is one column; `under` keeps a leading column, with the third and later children below the second. */
  phone?: 'stack' | 'under' | undefined;
  /** One column up to the width of a tablet. */
  tablet?: 'stack' | undefined;
}

interface OfRow {
  wrap?: boolean | undefined;
  /** Displayed inline, as a part of a line of text. */
  inline?: boolean | undefined;
  /** On a phone: `fill` shares the width among the children; `pairs` puts two in a line. */
  phone?: 'fill' | 'pairs' | undefined;
}

type Props<Element extends ElementType, Own = object> = Common<Element> &
  Own &
  Omit<ComponentPropsWithRef<Element>, keyof Common<Element> | keyof Own>;

type PartProps = Common<ElementType> & Omit<OfGrid, 'phone'> & { layout: string; phone?: OfGrid['phone'] | OfRow['phone'] };

function Part({ as: Element = 'div', layout, gap, rowGap, align, justify, lines, columns, phone, tablet, ...rest }: PartProps) {
  return (
    <Element
      data-layout={layout}
      data-gap={gap}
      data-row-gap={rowGap}
      data-align={align}
      data-justify={justify}
      data-lines={lines || undefined}
      data-cols={columns}
      data-phone={phone}
      data-tablet={tablet}
      {...rest}
    />
  );
}

/** Children below each other. `align` is their horizontal alignment. */
export function Stack<Element extends ElementType = 'div'>(props: Props<Element>) {
  return <Part layout="stack" {...props} />;
}

/** Children beside each other, vertically centered; they wrap if they do not fit. */
export function Row<Element extends ElementType = 'div'>({ wrap = true, inline = false, ...props }: Props<Element, OfRow>) {
  return <Part layout={inline ? 'inline' : wrap ? 'row' : 'line'} {...props} />;
}

/** Children in columns. */
export function Grid<Element extends ElementType = 'div'>(props: Props<Element, OfGrid>) {
  return <Part layout="grid" {...props} />;
}
