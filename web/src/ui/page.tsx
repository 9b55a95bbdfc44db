import { createContext, type ReactNode, useContext } from 'react';
import './page.css';

/** The notice for a person who may not see the content of the screen; undefined for everybody else. */
export const NoticeInPlace = createContext<ReactNode>(undefined);

interface PageProps {
  title: string;
  sentence?: ReactNode;
  /** Content at the end of the heading's line. */
  aside?: ReactNode;
  /** The children are a page with a heading of their own; this heading is that of the notice. */
  isForNotice?: boolean;
  children: ReactNode;
}

/** A screen: its heading, which takes the focus after a change of route, and its parts. */
export function Page({ title, sentence, aside, isForNotice = false, children }: PageProps) {
  const notice = useContext(NoticeInPlace);
  if (isForNotice && notice === undefined) return children;
  return (
    <div className="page">
      <div className="page__head">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {sentence && <p className="sub">{sentence}</p>}
        </div>
        {aside}
      </div>
      {notice ?? children}
    </div>
  );
}
