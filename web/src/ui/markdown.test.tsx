import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { Markdown } from './markdown.tsx';
import { renderForTest } from './render-for-test.tsx';

describe('a text in Markdown', () => {
  it('has headings, paragraphs, lists, quotes, code and what stands out in a line', () => {
    renderForTest(
      <Markdown
        text={[
          '## Do this first',
          'Take the computer **off the internet**,',
          'and *wait*.',
          '1. Pull the cable',
          '2. Press `Scan`',
          '',
          '- one',
          '- two',
          '### Then',
          '> Nobody calls first.',
          '```',
          '# no heading',
          '```',
          '[Antivirus](/antivirus) or [elsewhere](https://example.com/a)',
        ].join('\n')}
      />,
    );
    expect(screen.getByRole('heading', { level: 2, name: 'Do this first' })).toBeVisible();
    expect(screen.getByRole('heading', { level: 3, name: 'Then' })).toBeVisible();
    expect(screen.getByText('off the internet').tagName).toBe('STRONG');
    expect(screen.getByText('wait').tagName).toBe('EM');
    const [steps, points] = screen.getAllByRole('list');
    expect(steps?.tagName).toBe('OL');
    expect(
      within(steps ?? document.body)
        .getAllByRole('listitem')
        .at(-1),
    ).toHaveTextContent('Press Scan');
    expect(within(points ?? document.body).getAllByRole('listitem')).toHaveLength(2);
    expect(screen.getByText('Nobody calls first.').tagName).toBe('BLOCKQUOTE');
    expect(screen.getByText('# no heading')).toBeVisible();
    expect(screen.getByRole('link', { name: 'Antivirus' })).toHaveAttribute('href', '/antivirus');
    expect(screen.getByRole('link', { name: 'elsewhere' })).toHaveAttribute('rel', 'noopener noreferrer');
  });

  // proves: support-bad-input-12
  it.each([
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '[press](javascript:alert(1))',
    '[press](data:text/html,hello)',
    '[press](//evil.example/a)',
    '[press](vbscript:x)',
  ])('shows %s as text, with nothing to press and nothing that runs', (text) => {
    const { container } = renderForTest(<Markdown text={text} />);
    expect(container.querySelector('.markdown :is(a, img, script, iframe)')).toBeNull();
    expect(container.textContent).toContain(text);
  });
});
