import { Component, type ReactNode } from 'react';
import { ErrorMessage } from './error-page.tsx';
import { isNotFetched, NoConnection } from './no-connection.tsx';

/** Error boundary for parts outside the router, which has its own error pages. */
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
