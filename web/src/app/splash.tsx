import { Spinner } from '#ui/button.tsx';

export function Splash() {
  return (
    <div className="splash" role="status" aria-label="Loading">
      <Spinner />
    </div>
  );
}
