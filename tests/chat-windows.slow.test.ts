// The same property as beside it, on 500 random chats.
import './chat-windows.test.ts';
