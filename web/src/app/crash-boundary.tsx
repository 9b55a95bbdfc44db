import { Component, type ReactNode } from 'react';
import { ErrorMessage } from './error-page.tsx';
import { isNotFetched, NoConnection } from './no-connection.tsx';

/** Parts outside the router, and so outside its error pages, show the same words when they fail. */
export class CrashBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error('Something was thrown that is not an error') };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return isNotFetched(error) ? <NoConnection otherwise={<ErrorMessage />} /> : <ErrorMessage />;
  }
}
