import { useEffect } from 'react';
import { Button } from '#ui/button.tsx';
import './error-page.css';

/** Says that a screen broke, and offers what helps: a new version of the page or a slip of the network are both mended by loading again. */
export function ErrorMessage() {
  useEffect(() => {
    document.title = 'Something went wrong · Palisade';
  }, []);
  return (
    <section className="error-page">
      <h1 tabIndex={-1}>This page broke</h1>
      <p className="sub">Your data is safe. Reload the page. If it happens again, tell support what you were doing.</p>
      <Button onClick={() => window.location.reload()}>Load again</Button>
    </section>
  );
}
