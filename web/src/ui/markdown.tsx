import { type Block, type Inline, parseMarkdown } from '@palisade/contract/markdown';
import { Fragment, type ReactNode, useMemo } from 'react';
import { Link } from 'react-router';
import './markdown.css';

/** Renders Markdown from a person as React elements, so that it cannot contain tags or scripts. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return (
    <div className="markdown">
      {keyed(blocks, (block) => (
        <Part block={block} />
      ))}
    </div>
  );
}

/** Renders parts with their index as key. */
function keyed<One>(all: readonly One[], draw: (one: One) => ReactNode): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity than their position
  return all.map((one, index) => <Fragment key={index}>{draw(one)}</Fragment>);
}

function Part({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading': {
      const Heading = block.level === 2 ? 'h2' : 'h3';
      return (
        <Heading>
          <Spans parts={block.children} />
        </Heading>
      );
    }
    case 'list': {
      const List = block.ordered ? 'ol' : 'ul';
      return (
        <List>
          {keyed(block.items, (parts) => (
            <li>
              <Spans parts={parts} />
            </li>
          ))}
        </List>
      );
    }
    case 'quote':
      return (
        <blockquote>
          <Spans parts={block.children} />
        </blockquote>
      );
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case 'paragraph':
      return (
        <p>
          <Spans parts={block.children} />
        </p>
      );
  }
}

function Spans({ parts }: { parts: readonly Inline[] }): ReactNode {
  return keyed(parts, (part) => <Span part={part} />);
}

function Span({ part }: { part: Inline }): ReactNode {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'code':
      return <code>{part.text}</code>;
    case 'strong':
      return (
        <strong>
          <Spans parts={part.children} />
        </strong>
      );
    case 'emphasis':
      return (
        <em>
          <Spans parts={part.children} />
        </em>
      );
    case 'link':
      return part.href.startsWith('/') ? (
        <Link to={part.href}>
          <Spans parts={part.children} />
        </Link>
      ) : (
        <a href={part.href} {...(/^http/iu.test(part.href) && { target: '_blank', rel: 'noopener noreferrer' })}>
          <Spans parts={part.children} />
        </a>
      );
  }
}
