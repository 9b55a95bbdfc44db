import { Component, type ReactNode } from 'react';
import { ErrorMessage } from './error-page.tsx';
import { isNotFetched, NoConnection } from './no-connection.tsx';

interface CrashBoundaryProps {
  children: ReactNode;
  /** A new value ends the error. */
  at?: unknown;
}

interface Crash {
  error: unknown;
  at: unknown;
}

/** Replaces parts that broke with a message. */
export class CrashBoundary extends Component<CrashBoundaryProps, Crash> {
  override state: Crash = { error: undefined, at: this.props.at };

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error('Something was thrown that is not an error') };
  }

  static getDerivedStateFromProps({ at }: CrashBoundaryProps, state: Crash): Crash | null {
    return at === state.at ? null : { error: undefined, at };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return isNotFetched(error) ? <NoConnection otherwise={<ErrorMessage />} /> : <ErrorMessage />;
  }
}
