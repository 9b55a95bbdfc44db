import type { ReactNode } from 'react';
import './page.css';

interface PageProps {
  title: string;
  sentence?: ReactNode;
  /** Content at the end of the heading's line. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A screen: its heading, which takes the focus after a change of route, and its parts. */
export function Page({ title, sentence, aside, children }: PageProps) {
  return (
    <div className="page">
      <div className="page__head">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {sentence && <p className="sub">{sentence}</p>}
        </div>
        {aside}
      </div>
      {children}
    </div>
  );
}
