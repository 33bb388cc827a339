from django.apps import AppConfig


class LettersConfig(AppConfig):
    name = "builder.letters"
    label = "letters"
