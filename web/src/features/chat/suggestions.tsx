import { IconBook, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useSuggestions } from './chat.queries.ts';

/** Help pages that may answer the draft, until the person hides them for this message. */
export function Suggestions({ draft }: { draft: string }) {
  const articles = useSuggestions(draft);
  const [hidden, setHidden] = useState('');
  const names = articles.map(({ slug }) => slug).join();
  return (
    <div role="status" className="suggestions" aria-label="Help pages that may answer this">
      {articles.length > 0 && hidden !== names && (
        <>
          <span className="suggestions__title">This may answer it:</span>
          <ul>
            {articles.map(({ slug, title }) => (
              <li key={slug}>
                <Link to={`/help/${slug}`} target="_blank" rel="noopener">
                  <IconBook size={16} stroke={1.7} aria-hidden="true" />
                  {title}
                  <span className="visually-hidden"> (opens in a new window)</span>
                </Link>
              </li>
            ))}
          </ul>
          <button
            type="button"
            className="suggestions__close icon-button"
            aria-label="Hide the help pages"
            onClick={() => setHidden(names)}
          >
            <IconX size={16} stroke={2} aria-hidden="true" />
          </button>
        </>
      )}
    </div>
  );
}
