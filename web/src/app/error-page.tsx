import { useEffect } from 'react';
import { Button } from '#ui/button.tsx';
import './error-page.css';

/** Reports a broken screen and offers a reload, which fixes both an outdated page and a network error. */
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
