import { createContext, type ReactNode, useContext } from 'react';
import './page.css';

/** The notice for a person who may not see the screen; undefined otherwise. */
export const NoticeInPlace = createContext<ReactNode>(undefined);

interface PageProps {
  title: string;
  sentence?: ReactNode;
  /** Content at the end of the heading's line. */
  aside?: ReactNode;
  /** True if the children are a page with their own heading; then this heading is only for the notice. */
  isForNotice?: boolean;
  children: ReactNode;
}

/** A screen: its heading, which receives the focus after navigation, and its content. */
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
