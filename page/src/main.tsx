import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { ErrorBoundary } from './app/error-boundary.tsx';
import { startTheme } from './app/theme.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/conversation.css';
import './styles/waits.css';
import './styles/why.css';
import './styles/markdown.css';
import './styles/tour.css';

startTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element with the id "root".');
createRoot(root).render(
  <StrictMode>
    <ErrorBoundary fallback={<p className="page-failed">This page cannot be shown. Reload it; nothing is lost.</p>}>
      <App />
    </ErrorBoundary>
  </StrictMode>,
);
