import type { ReactNode } from 'react';
import { Component } from 'react';

interface BoundaryProps {
  /** Shown instead of what could not be drawn. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

/** Keeps the rest of the page alive if a part of it cannot be drawn. */
export class ErrorBoundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
