// Light and dark: as the system has it, unless a person chose.
import type { ReactElement } from 'react';
import { useEffect, useState } from 'react';
import { Icon } from './icons.tsx';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const key = 'stepline-theme';

/** Reads what was chosen. A browser may refuse its storage. */
function readTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';
  } catch {
    return 'system';
  }
}

function storeTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    // It then counts until the page is closed.
  }
}

/** Shows the page in a theme. */
function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Applies the theme before anything is drawn. */
export const startTheme = (): void => applyTheme(readTheme());

const icons = { system: 'auto', light: 'sun', dark: 'moon' } as const;

/** A button that goes through the themes. */
export function ThemeButton(): ReactElement {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => applyTheme(theme), [theme]);
  const onClick = (): void => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
    storeTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" className="icon-button" onClick={onClick} aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`}>
      <Icon name={icons[theme]} />
    </button>
  );
}
