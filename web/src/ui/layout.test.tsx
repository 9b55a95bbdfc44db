import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { Row } from './layout.tsx';

it('wraps a row that lacks room, unless it is told to stay in one line', () => {
  render(
    <>
      <Row>wraps</Row>
      <Row wrap={false}>stays</Row>
      <Row inline>stands in a text</Row>
    </>,
  );
  const layoutOf = (text: string) => screen.getByText(text).dataset['layout'];
  expect(['wraps', 'stays', 'stands in a text'].map(layoutOf)).toEqual(['row', 'line', 'inline']);
});
