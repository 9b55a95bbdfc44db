import { useEffect } from 'react';
import { useRouteError } from 'react-router';
import { ErrorMessage } from './error-page.tsx';
import { isNotFetched, NoConnection } from './no-connection.tsx';

export function RouteError() {
  const error = useRouteError();
  useEffect(() => console.error(error), [error]);
  return isNotFetched(error) ? <NoConnection otherwise={<ErrorMessage />} /> : <ErrorMessage />;
}
