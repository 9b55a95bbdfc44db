import { IconBook, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { Row } from '#ui/layout.tsx';
import { useSuggestions } from './chat.queries.ts';

/** Help pages that may answer the draft, until the person hides them for this message. */
export function Suggestions({ draft }: { draft: string }) {
  const articles = useSuggestions(draft);
  const [hidden, setHidden] = useState('');
  const names = articles.map(({ slug }) => slug).join();
  return (
    <div role="status" aria-label="Help pages that may answer this">
      {articles.length > 0 && hidden !== names && (
        <Row gap="3" rowGap="0" className="small">
          <span className="muted">This may answer it:</span>
          <Row as="ul" gap="3" rowGap="0">
            {articles.map(({ slug, title }) => (
              <li key={slug}>
                <Row as={Link} to={`/help/${slug}`} target="_blank" rel="noopener" wrap={false} gap="1" className="pad-line">
                  <IconBook size={16} stroke={1.7} aria-hidden="true" />
                  {title}
                  <span className="visually-hidden"> (opens in a new window)</span>
                </Row>
              </li>
            ))}
          </Row>
          <button type="button" className="icon-button push" aria-label="Hide the help pages" onClick={() => setHidden(names)}>
            <IconX size={16} stroke={2} aria-hidden="true" />
          </button>
        </Row>
      )}
    </div>
  );
}
