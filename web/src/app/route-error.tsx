import { useEffect } from 'react';
import { useRouteError } from 'react-router';
import { ErrorMessage } from './error-page.tsx';

export function RouteError() {
  const error = useRouteError();
  useEffect(() => console.error(error), [error]);
  return <ErrorMessage />;
}
